#include "CSimdjson.h"

#include <simdjson.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// Documents below this size never cause a reallocation.
constexpr size_t smallest_capacity = 4096;

}  // namespace

struct csimdjson_parser {
  simdjson::dom::parser dom;
  uint8_t *buffer = nullptr;
  // Bytes of document that `buffer` and the tape can hold.
  size_t capacity = 0;
  size_t depth = 0;
  size_t retained_bytes = 0;

  ~csimdjson_parser() { std::free(buffer); }

  void release() {
    std::free(buffer);
    buffer = nullptr;
    capacity = 0;
    depth = 0;
    dom = simdjson::dom::parser();
  }

  // Makes room by powers of two, so that a stream of slowly growing documents reallocates seldom.
  bool make_room(size_t count, size_t new_depth) {
    if (capacity > retained_bytes && count <= retained_bytes) { release(); }
    if (count <= capacity && new_depth == depth) { return true; }
    size_t wanted = capacity > smallest_capacity ? capacity : smallest_capacity;
    while (wanted < count) {
      if (wanted > SIZE_MAX / 4) { return false; }
      wanted *= 2;
    }
    if (wanted > capacity) {
      uint8_t *grown = static_cast<uint8_t *>(std::malloc(wanted + simdjson::SIMDJSON_PADDING));
      if (grown == nullptr) { return false; }
      std::free(buffer);
      buffer = grown;
      capacity = 0;
      if (dom.doc.allocate(wanted) != simdjson::SUCCESS) { return false; }
    }
    if (dom.allocate(wanted, new_depth) != simdjson::SUCCESS) {
      capacity = 0;
      return false;
    }
    capacity = wanted;
    depth = new_depth;
    return true;
  }
};

namespace {

csimdjson_status status_of(simdjson::error_code code) {
  switch (code) {
  case simdjson::EMPTY:
    return CSIMDJSON_EMPTY;
  case simdjson::UTF8_ERROR:
    return CSIMDJSON_BAD_UTF8;
  case simdjson::DEPTH_ERROR:
    return CSIMDJSON_TOO_DEEP;
  case simdjson::NUMBER_ERROR:
    return CSIMDJSON_NUMBER;
  case simdjson::MEMALLOC:
  case simdjson::CAPACITY:
    return CSIMDJSON_NO_MEMORY;
  default:
    return CSIMDJSON_MALFORMED;
  }
}

// The parser decodes a lone low surrogate to three bytes that are not UTF-8; the input itself was checked, so such
// bytes can only come from an escape.
bool has_forbidden_scalar(csimdjson_text text) {
  if (std::memchr(text.bytes, 0, text.count) != nullptr) { return true; }
  for (size_t i = 0; i + 1 < text.count; i++) {
    if (text.bytes[i] == 0xED && text.bytes[i + 1] >= 0xA0) { return true; }
  }
  return false;
}

// Whether `first` stands right before `second` anywhere in the source.
bool contains_pair(const uint8_t *bytes, size_t count, uint8_t first, uint8_t second) {
  const uint8_t *at = bytes;
  const uint8_t *end = bytes + count;
  while (at < end) {
    at = static_cast<const uint8_t *>(std::memchr(at, first, static_cast<size_t>(end - at)));
    if (at == nullptr) { return false; }
    if (at + 1 < end && at[1] == second) { return true; }
    at++;
  }
  return false;
}

// Finds the next number of a well-formed source at or behind `at`; null when there is none.
const uint8_t *next_number(const uint8_t *at, const uint8_t *end) {
  bool in_string = false;
  for (; at < end; at++) {
    if (in_string) {
      if (*at == '\\') {
        at++;
      } else if (*at == '"') {
        in_string = false;
      }
    } else if (*at == '"') {
      in_string = true;
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
      return at;
    }
  }
  return nullptr;
}

const uint8_t *number_end(const uint8_t *at, const uint8_t *end) {
  while (at < end && *at != 0 && std::strchr("0123456789+-.eE", *at) != nullptr) { at++; }
  return at;
}

// The parser reads `-0` as the integer 0. Its sign is information, so the tape gets the double that it stands for:
// numbers come in the same order in the source and on the tape.
void restore_negative_zeros(uint64_t *tape, size_t end, const uint8_t *source, const uint8_t *source_end) {
  const uint8_t *at = source;
  for (size_t i = 1; i < end; i++) {
    const uint8_t type = static_cast<uint8_t>(tape[i] >> 56);
    if (type != 'l' && type != 'u' && type != 'd') { continue; }
    at = next_number(at, source_end);
    if (at == nullptr) { return; }
    if (type == 'l' && tape[i + 1] == 0 && *at == '-') {
      const double zero = -0.0;
      tape[i] = static_cast<uint64_t>('d') << 56;
      std::memcpy(&tape[i + 1], &zero, sizeof zero);
    }
    at = number_end(at, source_end);
    i++;
  }
}

}  // namespace

csimdjson_parser *csimdjson_create(size_t retained_bytes) {
  csimdjson_parser *parser = new (std::nothrow) csimdjson_parser();
  if (parser != nullptr) { parser->retained_bytes = retained_bytes; }
  return parser;
}

void csimdjson_destroy(csimdjson_parser *parser) { delete parser; }

void csimdjson_release(csimdjson_parser *parser) { parser->release(); }

size_t csimdjson_capacity(const csimdjson_parser *parser) { return parser->capacity; }

csimdjson_status csimdjson_parse(
    csimdjson_parser *parser, const uint8_t *bytes, size_t count, size_t maximum_depth, csimdjson_value *root) {
  if (count == 0) { return CSIMDJSON_EMPTY; }
  // The parser wants a depth that is never reached, and counts an empty container as flat: the exact count is below.
  if (!parser->make_room(count, maximum_depth + 1)) {
    parser->release();
    return CSIMDJSON_NO_MEMORY;
  }
  uint8_t *buffer = parser->buffer;
  std::memcpy(buffer, bytes, count);
  std::memset(buffer + count, 0, simdjson::SIMDJSON_PADDING);
  simdjson::dom::element element;
  const simdjson::error_code code = parser->dom.parse(buffer, count, false).get(element);
  if (code != simdjson::SUCCESS) {
    // Whatever the parser stumbled over first: bad UTF-8 is what the peer is told.
    const bool is_utf8 = simdjson::validate_utf8(reinterpret_cast<const char *>(buffer), count);
    return is_utf8 ? status_of(code) : CSIMDJSON_BAD_UTF8;
  }
  uint64_t *tape = parser->dom.doc.tape.get();
  const csimdjson_value document = {tape, parser->dom.doc.string_buf.get(), 0};
  const size_t end = static_cast<size_t>(csimdjson_payload(document)) - 1;
  const bool has_escapes = contains_pair(buffer, count, '\\', 'u');
  size_t depth = 0;
  for (size_t i = 1; i < end; i++) {
    switch (static_cast<uint8_t>(tape[i] >> 56)) {
    case '{':
    case '[':
      depth++;
      if (depth > maximum_depth) { return CSIMDJSON_TOO_DEEP; }
      break;
    case '}':
    case ']':
      depth--;
      break;
    case 'l':
    case 'u':
    case 'd':
      i++;
      break;
    case '"':
      if (has_escapes && has_forbidden_scalar(csimdjson_string(csimdjson_at(document, i)))) {
        return CSIMDJSON_FORBIDDEN_SCALAR;
      }
      break;
    default:
      break;
    }
  }
  if (contains_pair(buffer, count, '-', '0')) { restore_negative_zeros(tape, end, buffer, buffer + count); }
  *root = csimdjson_at(document, 1);
  return CSIMDJSON_OK;
}

size_t csimdjson_format_double(double value, uint8_t *out) {
  char *start = reinterpret_cast<char *>(out);
  const char *end = simdjson::internal::to_chars(start, start + 32, value);
  return static_cast<size_t>(end - start);
}
