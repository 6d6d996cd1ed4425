"""Conversations of agents that are written in Python, in the shapes their libraries use."""

from skill_learner.conversation.messages import Part, read_message
from skill_learner.conversation.recording import Conversation
from skill_learner.conversation.store import ConversationStore, StoredConversation, files_of_session

__all__ = [
    "Conversation",
    "ConversationStore",
    "Part",
    "StoredConversation",
    "files_of_session",
    "read_message",
]
