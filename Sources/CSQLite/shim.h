#pragma once
#include <sqlite3.h>

// Variadic, so Swift cannot call it. Counting memory takes one lock of the process at every allocation. Only the first
// call before any connection has an effect.
static inline int csqlite_stop_counting_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// SQLITE_TRANSIENT is a cast that Swift cannot see: these bind a copy, by length, never up to a NUL. An empty value may have no
// bytes to point at, and a null pointer would bind NULL.

static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}
