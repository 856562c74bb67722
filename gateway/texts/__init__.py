"""Every sentence that people read; each module is a namespace for one topic."""
