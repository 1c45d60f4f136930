// The physical limit that benchmarks are held against: N connected loopback sockets and one send a round to each, as a
// fan-out of one message would make. The receiving ends are read by a thread, the way a load driver would read them.
//
//   sendloop CONNECTIONS BYTES COALESCED SECONDS [SENDER_CORE READER_CORE]
//
// COALESCED messages go into one send (1 for a fan-out; 8 for eight in flight). A round waits until the reader has
// everything, as a closed loop with one publication in flight does. Prints one JSON object:
//   {"connections": N, "bytes": N, "coalesced": N, "messagesPerSecond": X, "cpuMicrosecondsPerMessage": X}
// messagesPerSecond counts whole rounds by the clock; cpuMicrosecondsPerMessage is the sending thread's computing time in
// its sends alone, which others on the machine disturb less. Exit 1 with a sentence when a system call fails, 78 for
// wrong arguments.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 9000, MAX_BYTES = 65536, EVENTS = 1024 };

static void fail(const char *what) {
  fprintf(stderr, "sendloop: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pin(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot pin a thread to a core");
}

struct reader {
  int epoll, core;
  _Atomic uint64_t received;
  _Atomic int stops;
};

static void *read_all(void *argument) {
  struct reader *reader = argument;
  pin(reader->core);
  static struct epoll_event events[EVENTS];
  static char buffer[262144];
  while (!atomic_load_explicit(&reader->stops, memory_order_relaxed)) {
    int count = epoll_wait(reader->epoll, events, EVENTS, 0);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++) {
      ssize_t got = recv(events[i].data.fd, buffer, sizeof buffer, MSG_DONTWAIT);
      if (got < 0 && errno != EAGAIN) fail("recv");
      if (got > 0) bytes += (uint64_t)got;
    }
    if (bytes) atomic_fetch_add_explicit(&reader->received, bytes, memory_order_release);
  }
  return NULL;
}

static long number(const char *text, long low, long high, const char *name) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno || *end || end == text || value < low || value > high) {
    fprintf(stderr, "sendloop: %s must be from %ld to %ld\n", name, low, high);
    exit(78);
  }
  return value;
}

int main(int argc, char **argv) {
  if (argc != 5 && argc != 7) {
    fprintf(stderr, "usage: sendloop CONNECTIONS BYTES COALESCED SECONDS [SENDER_CORE READER_CORE]\n");
    return 78;
  }
  int connections = (int)number(argv[1], 1, MAX_CONNECTIONS, "CONNECTIONS");
  size_t bytes = (size_t)number(argv[2], 1, MAX_BYTES, "BYTES");
  size_t coalesced = (size_t)number(argv[3], 1, 64, "COALESCED");
  long seconds = number(argv[4], 1, 60, "SECONDS");
  int sender_core = argc == 7 ? (int)number(argv[5], 0, 1023, "SENDER_CORE") : -1;
  static struct reader reader;
  reader.core = argc == 7 ? (int)number(argv[6], 0, 1023, "READER_CORE") : -1;

  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0)
    fail("cannot listen");
  reader.epoll = epoll_create1(EPOLL_CLOEXEC);
  if (reader.epoll < 0) fail("epoll_create1");
  static int senders[MAX_CONNECTIONS];
  for (int i = 0; i < connections; i++) {
    int receiver = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receiver < 0 || connect(receiver, (struct sockaddr *)&address, sizeof address) != 0) fail("cannot connect");
    senders[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (senders[i] < 0) fail("accept4");
    int one = 1;
    setsockopt(senders[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = receiver};
    if (epoll_ctl(reader.epoll, EPOLL_CTL_ADD, receiver, &event) != 0) fail("epoll_ctl");
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, read_all, &reader) != 0) fail("pthread_create");
  pin(sender_core);

  size_t size = bytes * coalesced;
  char *message = malloc(size);
  if (!message) fail("malloc");
  memset(message, 'x', size);
  uint64_t sent = 0, rounds = 0;
  double sending = 0, warm = now(CLOCK_MONOTONIC) + 0.2, began = 0, end = 0;
  for (;;) {
    double start = now(CLOCK_MONOTONIC);
    if (began == 0 && start >= warm) {
      began = start;
      end = start + (double)seconds;
      rounds = 0;
      sending = 0;
    }
    if (began != 0 && start >= end) break;
    double cpu = now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < connections; i++) {
      size_t done = 0;
      while (done < size) {
        ssize_t count = send(senders[i], message + done, size - done, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN && errno != EINTR) fail("send");
        if (count > 0) done += (size_t)count;
      }
    }
    sending += now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    sent += size * (uint64_t)connections;
    rounds++;
    while (atomic_load_explicit(&reader.received, memory_order_acquire) < sent) {
    }
  }
  double took = now(CLOCK_MONOTONIC) - began;
  atomic_store(&reader.stops, 1);
  pthread_join(thread, NULL);
  printf(
      "{\"connections\": %d, \"bytes\": %zu, \"coalesced\": %zu, \"messagesPerSecond\": %.0f, "
      "\"cpuMicrosecondsPerMessage\": %.4f}\n",
      connections, bytes, coalesced, (double)rounds * connections * (double)coalesced / took,
      sending * 1e6 / (double)rounds / connections / (double)coalesced);
  return 0;
}
