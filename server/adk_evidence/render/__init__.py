"""An Evidence Pack as text: Markdown to paste, a prompt block for a model."""
