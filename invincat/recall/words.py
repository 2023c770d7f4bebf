"""Function words: dropped from a query when something else is left of it, never from the index."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What rules turn on (not, never, must, only, all) is not among them.
FUNCTION_WORDS: Final = _words(
    """
    a about after also am an and any are aren't as at be because been before being below between both but by can
    could couldn't did didn't do does doesn't doing down during e.g each else ever few for from further get gets got
    had has have having he her here hers him his how i i'd i'll i'm i've i.e if in into is isn't it it's its itself
    just let let's like may me might more most much my myself nor of off on one or other our ours out own per
    please shall she should so some such than that that's the their theirs them then there there's these they
    they're this those through to too until up upon us very via was we we'd we'll we're we've were what what's when
    where which while who whom whose why will with within without won't would you you'd you'll you're you've your
    yours yourself
    """
)

# A character pair that holds one of these says how the words around it hang together, hardly what they are.
CJK_PARTICLES: Final = frozenset("的吗呢吧嘛をは")

CJK_FUNCTION_WORDS: Final = _words(
    """
    什么 怎么 怎样 如何 哪些 哪个 哪里 为何 请问 我们 你们 他们 这个 那个 这些 那些 一个 可以 应该 是否 有没 没有 以及
    或者 これ それ この その どの する です ます から まで
    """
)
