import FuzzTargets

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzTarget.frame.runOrTrap(UnsafeBufferPointer(start: start, count: count))
  return 0
}
