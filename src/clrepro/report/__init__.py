"""What people read: tables as csv, Markdown and HTML."""
