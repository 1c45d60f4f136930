#pragma once

// simdjson's DOM parser behind a C face. A parsed document is simdjson's tape: an array of 64-bit words, the type in
// the high byte and a payload in the rest. Reading it is a matter of a few shifts, so the readers below are inline and
// the library is entered once a document.
//
// Threads: a parser belongs to one thread. Lifecycle: a value is valid until the next parse or the parser's end.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csimdjson_parser csimdjson_parser;

typedef enum csimdjson_status {
  CSIMDJSON_OK = 0,
  // Nothing but white space.
  CSIMDJSON_EMPTY,
  // Not RFC 8259; also a lone surrogate that the parser itself noticed.
  CSIMDJSON_MALFORMED,
  CSIMDJSON_BAD_UTF8,
  // Containers nested deeper than asked for.
  CSIMDJSON_TOO_DEEP,
  // A number that is misspelt, or that neither 64 bits nor a finite double hold.
  CSIMDJSON_NUMBER,
  // A NUL or a lone surrogate in a string or key.
  CSIMDJSON_FORBIDDEN_SCALAR,
  CSIMDJSON_NO_MEMORY,
} csimdjson_status;

// One value of a document: where it stands on the tape, and where the tape's strings are.
typedef struct csimdjson_value {
  const uint64_t *tape;
  const uint8_t *strings;
  size_t index;
} csimdjson_value;

typedef struct csimdjson_text {
  const uint8_t *bytes;
  size_t count;
} csimdjson_text;

// Null when out of memory. Buffers above `retained_bytes` are given back before the next smaller document.
csimdjson_parser *csimdjson_create(size_t retained_bytes);
void csimdjson_destroy(csimdjson_parser *parser);

// Copies `bytes` into the parser's padded buffer and parses them. `root` is set only when the answer is CSIMDJSON_OK.
// `maximum_depth` counts nested containers: 1 lets "[]" pass and refuses "[[]]".
csimdjson_status csimdjson_parse(
    csimdjson_parser *parser, const uint8_t *bytes, size_t count, size_t maximum_depth, csimdjson_value *root);

// Gives back every buffer; values of the last document are dead.
void csimdjson_release(csimdjson_parser *parser);

// Bytes of document that the parser can take without growing.
size_t csimdjson_capacity(const csimdjson_parser *parser);

// Writes the shortest text that reads back as `value`, which must be finite; at most 32 bytes. Answers their number.
size_t csimdjson_format_double(double value, uint8_t *out);

// The type's byte: one of { [ " l u d t f n ('l' signed, 'u' unsigned above INT64_MAX, 'd' double).
static inline uint8_t csimdjson_type(csimdjson_value value) { return (uint8_t)(value.tape[value.index] >> 56); }

static inline uint64_t csimdjson_payload(csimdjson_value value) {
  return value.tape[value.index] & 0x00FFFFFFFFFFFFFFULL;
}

// The tape index behind a value and all that it holds.
static inline size_t csimdjson_after(csimdjson_value value) {
  switch (csimdjson_type(value)) {
  case '{':
  case '[':
    return (size_t)(uint32_t)value.tape[value.index];
  case 'l':
  case 'u':
  case 'd':
    return value.index + 2;
  default:
    return value.index + 1;
  }
}

// The tape index of a container's closing word.
static inline size_t csimdjson_end(csimdjson_value container) { return csimdjson_after(container) - 1; }

static inline csimdjson_value csimdjson_at(csimdjson_value value, size_t index) {
  csimdjson_value other = {value.tape, value.strings, index};
  return other;
}

// A string's or a key's decoded UTF-8.
static inline csimdjson_text csimdjson_string(csimdjson_value value) {
  const uint8_t *start = value.strings + csimdjson_payload(value);
  uint32_t count;
  memcpy(&count, start, sizeof count);
  csimdjson_text text = {start + sizeof count, count};
  return text;
}

static inline int64_t csimdjson_int64(csimdjson_value value) { return (int64_t)value.tape[value.index + 1]; }

static inline uint64_t csimdjson_uint64(csimdjson_value value) { return value.tape[value.index + 1]; }

static inline double csimdjson_double(csimdjson_value value) {
  double number;
  memcpy(&number, &value.tape[value.index + 1], sizeof number);
  return number;
}

// Finds an object's member; of several with one name the last counts. False when there is none.
static inline bool csimdjson_find(
    csimdjson_value object, const uint8_t *name, size_t count, csimdjson_value *found) {
  bool is_found = false;
  size_t index = object.index + 1;
  const size_t end = csimdjson_end(object);
  while (index < end) {
    const csimdjson_text key = csimdjson_string(csimdjson_at(object, index));
    const csimdjson_value member = csimdjson_at(object, index + 1);
    if (key.count == count && memcmp(key.bytes, name, count) == 0) {
      *found = member;
      is_found = true;
    }
    index = csimdjson_after(member);
  }
  return is_found;
}

#ifdef __cplusplus
}
#endif
