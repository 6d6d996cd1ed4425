"""English words that tell nothing about a task. Other languages are served by taking the rarest
words of a query only."""

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any anyone are as at be because been before being
    below between both but by can cannot could did do does doing done down during each either else
    even ever every few for from further get gets getting give go goes going got had has have having
    he hello help her here hers hi him his how however i if in into is it its itself just let lets
    like make makes many may me might me more most much must my need needs no nor not now of off ok
    on once only or other our ours out over own please put really same shall she should show so some
    something such take tell than thank thanks that the their them then there these they thing
    things this those through to too try trying under until up upon us use used uses using very via
    want wants was way we well were what when where whether which while who whom whose why will with
    within without would yes yet you your yours s t d ll re ve m don doesn didn isn aren wasn weren
    won wouldn shouldn couldn can't i'm
    """.split()
)
