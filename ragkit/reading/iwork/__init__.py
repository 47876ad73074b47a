"""Documents of Apple's Pages, Numbers and Keynote."""
