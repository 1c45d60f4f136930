#define _GNU_SOURCE 1
#include "CLinux.h"

int clinux_accept(int fd, struct sockaddr_storage *address, socklen_t *length) {
  return accept4(fd, (struct sockaddr *)address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int clinux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int clinux_epoll_wait(int set, struct epoll_event *events, int capacity, int64_t nanoseconds) {
  if (nanoseconds <= 0) return epoll_wait(set, events, capacity, nanoseconds < 0 ? -1 : 0);
  struct timespec timeout = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int count = epoll_pwait2(set, events, capacity, &timeout, NULL);
  if (count >= 0 || errno != ENOSYS) return count;
  int64_t milliseconds = (nanoseconds + 999999) / 1000000;
  return epoll_wait(set, events, capacity, milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
}

int clinux_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }
