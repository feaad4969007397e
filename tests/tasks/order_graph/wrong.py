"""Steps and edges as other graph libraries have them."""

from google.adk import Workflow


def parse(text: str):
    item, quantity = text.split()
    return {"item": item, "quantity": int(quantity)}


def price(order: dict):
    return {"price": 5 * order["quantity"]}


def stock(order: dict):
    return {"enough": order["quantity"] <= 20}


def ship(order: dict):
    return f"ship {order['item']} for {order['price']}"


def backorder(order: dict):
    return f"backorder {order['item']}"


def make_workflow():
    workflow = Workflow(name="orders")
    for step in (parse, price, stock, ship, backorder):
        workflow.add_node(step.__name__, step)
    workflow.add_edge("parse", "price")
    workflow.add_edge("parse", "stock")
    workflow.add_conditional_edges("stock", lambda order: "ship" if order["enough"] else "backorder")
    return workflow
