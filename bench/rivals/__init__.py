"""Other programs that search a folder of documents, side by side with Bookwheel."""
