/// The known word that was most likely meant.
enum Nearest {
  /// The candidate with the fewest edits from `word`, or nil when even that one differs in more than a third of its
  /// length (at least two edits are always allowed, so that short words have a chance).
  static func to(_ word: String, among candidates: [String]) -> String? {
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance = edits(from: word, to: candidate)
      if distance < best?.distance ?? Int.max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(2, best.candidate.utf8.count / 3) else { return nil }
    // Two edits turn any three-letter word into nearly any other.
    return best.distance < best.candidate.utf8.count ? best.candidate : nil
  }

  /// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other; case is ignored.
  static func edits(from first: String, to second: String) -> Int {
    let a = Array(first.lowercased().utf8.prefix(80))
    let b = Array(second.lowercased().utf8.prefix(80))
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
      var row = [i] + Array(repeating: 0, count: b.count)
      for j in 1...b.count {
        let replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        row[j] = min(replaced, last[j] + 1, row[j - 1] + 1)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { row[j] = min(row[j], beforeLast[j - 2] + 1) }
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
