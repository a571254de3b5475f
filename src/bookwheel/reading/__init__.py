"""Reading documents: listing, text, outline, sections."""
