"""A graph with parallel steps, a join and a route."""

from google.adk import Event, Workflow
from google.adk.workflow import START, JoinNode


def parse(node_input: str):
    item, quantity = node_input.split()
    return {"item": item, "quantity": int(quantity)}


def price(node_input: dict):
    return {"item": node_input["item"], "price": 5 * node_input["quantity"]}


def stock(node_input: dict):
    return {"enough": node_input["quantity"] <= 20}


def decide(node_input: dict):
    way = "ship" if node_input["stock"]["enough"] else "backorder"
    return Event(output=node_input["price"], route=way)


def ship(node_input: dict):
    return f"ship {node_input['item']} for {node_input['price']}"


def backorder(node_input: dict):
    return f"backorder {node_input['item']}"


def make_workflow():
    both = JoinNode(name="both")
    return Workflow(
        name="orders",
        edges=[
            (START, parse, (price, stock), both, decide),
            (decide, {"ship": ship, "backorder": backorder}),
        ],
    )
