import Chat
import Testing

@Suite("M12 reactions")
struct ReactionRulesTests {
  @Test(arguments: [
    "\u{1F44D}", "\u{1F44D}\u{1F3FD}", "\u{2764}", "\u{2764}\u{FE0F}", "1\u{FE0F}\u{20E3}", "\u{1F1E9}\u{1F1EA}",
    "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}", ":ok:", "a", "\u{e9}", "e\u{301}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", String(repeating: "x", count: 32),
  ])
  func M12_isAReaction(text: String) { #expect(ReactionRules.isReaction(text)) }

  @Test(arguments: [
    "", " ", "a b", "\n", "\u{a0}", "\u{7f}", "\u{1b}[0m", "\u{200b}", "\u{200d}", "\u{feff}", "\u{202e}", "a\u{202e}b",
    "\u{2066}x", "\u{ffff}", "\u{fe0f}", "\u{301}", "\u{115f}", String(repeating: "x", count: 33),
  ])
  func M12_isNone(text: String) { #expect(!ReactionRules.isReaction(text)) }
}
