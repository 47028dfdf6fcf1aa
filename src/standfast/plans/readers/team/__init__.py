"""Reading a team plan: tasks with members, in Markdown."""
