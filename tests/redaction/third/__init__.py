"""A third labelled set: notes, tickets, mails, shell histories, chats, in five languages."""
