"""Answers of the model that several journeys plan."""

from tests.emulators.streaming import Fault
from tests.journeys.stage import call

QUESTION = call("ask", question="Which colour?", options=["Red", "Blue"])


TALE = " ".join(f"word{number}" + "." * (number % 5 == 4) for number in range(40))


OVERLOADED = Fault(status=529, error="overloaded_error")
