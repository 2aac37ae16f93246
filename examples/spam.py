"""Documents by tokens: which words speak for spam."""

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
    model = weigh.EvidenceNB(event_model="counts").fit(words.fit_transform(texts), kinds)
    names = words.get_feature_names_out()
    sheet = model.balance_sheet(words.transform(["win a free lunch"]))
    for item in sheet.items:
        word = names[int(item.feature.removeprefix("x"))]
        print(f"{word:<8}{100 * item.weight:+6.0f}")
    print(f"probability of spam: {sheet.probability:.2f}")


if __name__ == "__main__":
    main()
