"""Citations: their form, the sources they point to, and whether they hold."""
