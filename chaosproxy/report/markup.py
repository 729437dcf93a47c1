"""Markup as trees: no text of ours or of a peer's is ever put between tags by hand, so none can become a tag.

Must not know: what is shown.
"""

from xml.etree.ElementTree import Element, tostring

Child = Element | str | None


def element(name: str, /, *children: Child, **attributes: str | None) -> Element:
    """An element; a str among its children is text. Attributes: `class_` is `class`, `data_status` `data-status`; None
    leaves one out."""
    made = Element(name, {_plain(key): value for key, value in attributes.items() if value is not None})
    for child in children:
        if isinstance(child, str):
            if len(made):
                made[-1].tail = (made[-1].tail or "") + child
            else:
                made.text = (made.text or "") + child
        elif child is not None:
            made.append(child)
    return made


def as_html(tree: Element) -> str:
    """HTML, in which `script` and `style` stand as they are: only constants of ours may be in them."""
    return tostring(tree, encoding="unicode", method="html")


def as_xml(tree: Element) -> str:
    """XML."""
    return tostring(tree, encoding="unicode", method="xml")


def _plain(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
