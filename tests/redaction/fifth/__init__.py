"""A fifth labelled set: vendors' tokens, files of settings, code, commands, tables, mails."""
