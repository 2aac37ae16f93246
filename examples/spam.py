"""Documents by tokens: which words are evidence for spam."""

from sklearn.feature_extraction.text import CountVectorizer

import weigh

letters = [
    ("win money now, claim your free prize", "spam"),
    ("free money, no risk, win win win", "spam"),
    ("cheap loans, claim money today", "spam"),
    ("are you free for lunch today?", "ham"),
    ("the minutes of the meeting are attached", "ham"),
    ("lunch after the meeting?", "ham"),
]


def main() -> None:
    texts, kinds = zip(*letters, strict=True)
    words = CountVectorizer()
    counts = words.fit_transform(texts)
    model = weigh.EvidenceNB(event_model="counts")
    model.fit(counts, kinds, feature_names=words.get_feature_names_out())
    print(model.balance_sheet(words.transform(["win a free lunch"])))
    print(weigh.reasons(model, counts, n=2).to_pylist()[0])


if __name__ == "__main__":
    main()
