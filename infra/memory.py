"""How much memory each function has, in MiB: chosen by measurement (``python -m tests.benchmarks.bench_memory``).

The figures are the most that a process held, without the 35 MiB of Lambda's own runtime. All of them would run on less.
But with memory Lambda gives processor time, a whole processor from 1,769 MiB on, and that is what these buy; what is
waited for costs more than it needs to, in return.
"""

from __future__ import annotations

ASK = 1024
"""60 MiB for a refusal, 113 for an answer by Claude. Over half a processor, for cold starts: 0.3 seconds of processor
time to the first refusal, and 1.5 more when the first answer loads Anthropic's client."""

DOCUMENTS = 512
"""43 MiB. A quarter of a processor: it loads little, and reads one row or a page of them."""

INGEST = 1769
"""149 MiB for the handbook and 252 for a text of 5 MB, the process that reads documents included. A whole processor,
as parsing and chunking a large document take all that there is."""

INGEST_ITSELF = 768
"""Of that, what isn't for the process that reads documents: the runtime's 35, up to 480 for the longest text that is
taken (20 million characters, in a million blocks) and what becomes of it, and the code which that process maps. Its
own limit is the rest, so that a document that takes too much ends its process before Lambda ends both."""

EMBED = 1769
"""196 MiB with the model, for a batch of the longest texts. A whole processor, as the model is nothing but work."""

RERANK = 3008
"""192 MiB with the model. Scores for 20 passages are a second or two of a processor's work, and someone waits: nearly
two processors, which is as much as every account may have."""

MIGRATE = 512
"""43 MiB. It sends statements and waits."""

VERIFY = 256
"""48 MiB. It calls three functions and waits."""
