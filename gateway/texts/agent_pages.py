"""Sentences of the console's pages about named agents and teams."""

from collections.abc import Mapping

from agent_core.localization import Plural, Text

AGENTS, TEAMS, TEAM = Text("Agents"), Text("Teams"), Text("team")
ABOUT = Text(
    "An agent is an assistant with its own identity, tools and conversations. It works for whoever"
    " writes to it, and knows what I know about you."
)
ASSISTANT = Text("The assistant")
ABOUT_ASSISTANT = Text("That's me, as you know me.")
ANSWERS_YOU = Text("answers you")
LET_ANSWER = Text("Let it answer me")
LET_ANSWER_NAMED = Text("Let {name} answer me")
LET_ASSISTANT_ANSWER = Text("Let the assistant answer me")
ANSWERS_NOW = Text(
    "The agent “{name}” now answers you in all direct chats. Our conversation is kept."
    " To go back to it, choose “The assistant” on this page."
)
ASSISTANT_NOW = Text("I'm back, and we're in our earlier conversation again.")
NO_AGENTS = Text(
    "There are no agents yet. Make one for work that needs its own character or tools."
)
NO_AGENTS_MEMBER = Text("There are no agents yet. Ask me for one, and an owner decides.")
ASK_FOR_ONE = Text("Ask for one")
WISH = Text("Make an agent that ")
NEW_AGENT, NEW_TEAM = Text("New agent"), Text("New team")
ABOUT_TEAMS = Text("Agents of a team work on one task together, and you get their result.")
NO_TEAMS = Text("There are no teams yet.")
TWO_FIRST = Text("A team needs two agents or more, so make those first.")
GIVE_TASK = Text("Give a task")
GIVE_TASK_NAMED = Text("Give {name} a task")
PUT_AWAY = Text("In the archive")
ABOUT_PUT_AWAY = Text("Their files, memory and conversations are kept.")
ARCHIVE, RESTORE = Text("Move to the archive"), Text("Bring back")
ARCHIVE_NAMED, RESTORE_NAMED = Text("Archive {name}"), Text("Bring {name} back")
ARCHIVED = Text("The agent “{name}” is archived. Where this agent answered, I answer again.")
TEAM_ARCHIVED = Text("The team “{name}” is archived; its agents stay.")
RESTORED, TEAM_RESTORED = Text("The agent “{name}” is back."), Text("The team “{name}” is back.")
MADE = Text("The agent “{name}” is ready. Everyone here can use it.")
CHANGED = Text(
    "The agent “{name}” has been changed. Its tools change at once, the rest with the next"
    " new chat."
)
TEAM_MADE = Text("The team “{name}” is ready. Give it a task.")
TEAM_CHANGED = Text("The change to the team “{name}” takes effect with its next task.")
MOVED = Text(
    "The agent “{name}” has moved from the team “{source}” to “{target}”, with everything it"
    " remembers."
)
NOT_POSSIBLE = Text("Nothing has changed. Details in English: “{reason}”")
REPAIR = Text("If you save this form, it replaces all earlier settings.")
FAULTY = Text("This can't be used until an owner repairs it. Details in English: “{fault}”")

NAME = Text("Name")
HINT_NAME = Text("Small letters, digits and hyphens.")
BAD_NAME = Text(
    "A name has up to 32 small letters, digits and hyphens, and begins with a letter; `default` is"
    " taken."
)
TAKEN = Text("This name is taken. Choose another one.")
PURPOSE = Text("What is it for?")
PURPOSE_EXAMPLE = Text("Writes and reviews code")
SOUL = Text("Who is it, and how does it go about its work?")
SOUL_EXAMPLE = Text("You write short, warm texts. You ask when something is unclear.")
MODEL, USUAL_MODEL = Text("Model"), Text("The usual one: {name}")
TOOLS, SKILLS, BLOCKS = Text("Tools"), Text("Skills"), Text("Shared notes")
TAGS, RULES = Text("Tags"), Text("Rules for its tools")
HINT_TAGS = Text(
    "Put commas between them. With a tag, an agent can write to all agents that have it."
)
LATER_TOOLS = Text("Tools that are added later")
LATER_ON, LATER_OFF = Text("It may use them, too"), Text("It may not use them")
ABOUT_TOOLS = Text("The agent never has more tools than the person who writes to it.")
ABOUT_SKILLS = Text("Those with a tick are always loaded; the agent can find the others itself.")
ALL_BLOCKS = Text("All shared notes of the person who writes to it")
ONLY_BLOCKS = Text("Only those with a tick")
NO_BLOCKS = Text("There are no shared notes yet. In a chat, /block lets you make some.")
ABOUT_RULES = Text(
    "Rules say when a tool may run, and in which order. Empty rules do nothing. Save to get"
    " a field for another rule."
)
RULE = Text("Rule {number}")
RULE_TOOL, NO_RULE = Text("Tool"), Text("no rule")
RULE_MOST = Text("At most this often in one answer (0: no limit)")
RULE_FIRST = Text("It runs before any other tool")
RULE_ENDS = Text("No tool runs after it")
RULE_BEFORE_END = Text("No answer without it")
RULE_THEN = Text("After it, only these tools")
RULE_AFTER = Text("It runs only after these tools")
RULE_CALLERS = Text("Only here (without a tick: anywhere)")
CALLERS: Mapping[str, Text] = {
    "direct": Text("direct chats"),
    "group": Text("groups and channels"),
    "job": Text("reminders"),
    "helper": Text("helpers"),
    "code": Text("programs that the agent writes"),
}
ALL_OF_PERSON, NOTHING = Text("all tools of the person who writes to it"), Text("none")
LED = Text("{supervisor} leads {members}")
ALL_BUT = Text("all but {names}")
MOVE = Text("Move to another team")
MOVE_FROM, MOVE_TO = Text("From the team"), Text("To the team")
MOVE_IT = Text("Move")
OTHER_DETAILS = Text("Tools, skills and notes")
RULE_TIMES = Plural("at most once in one answer", "at most {n} times in one answer")
RULE_IS_FIRST, RULE_IS_LAST = Text("before any other tool"), Text("no tool after it")
RULE_IS_NEEDED = Text("no answer without it")
RULE_ONLY_THEN, RULE_ONLY_AFTER = Text("after it only {names}"), Text("only after {names}")
RULE_ONLY_IN = Text("only in: {names}")

WAY = Text("Who decides who speaks?")
WAYS: Mapping[str, Text] = {
    "supervisor": Text("A leader plans, asks the members and sums up"),
    "round_robin": Text("The members speak in turn, in this order"),
    "free": Text("The members decide themselves whom to ask"),
}
LEADER, NO_LEADER = Text("Leader"), Text("no leader")
HINT_LEADER = Text("Only if a leader plans (see above). The leader isn't one of the members.")
MEMBERS, MEMBER = Text("Members, in their order"), Text("Member {number}")
NOBODY = Text("nobody")
SHARED = Text("Notes that all members see and change")
LIMITS = Text("Limits of one task")
ROUNDS, STEPS = Text("Rounds of the task (1 to 20)"), Text("Steps of all members (1 to 200)")
DOLLARS = Text("US dollars (0: this team has no limit of its own)")
NO_NUMBER = Text("Please enter a number.")
TASK = Text("What shall {name} do?")
SEND_TASK = Text("Send the task")
ABOUT_TASK = Text("The team's result appears in your chat, where you can stop the team, too.")
TASK_SENT = Text("The team “{name}” has your task. Its result appears in your chat.")
TO_CHAT = Text("Open the chat")
ITS_TASKS = Text("Your tasks for this team")
NO_TASK = Text("Write what the team shall do, in at most 100,000 characters.")
NO_TASKS = Text("You haven't given this team a task yet.")
LONGEST = Text("That's longer than {number} characters. Shorten it.")
