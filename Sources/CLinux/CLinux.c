#define _GNU_SOURCE 1
#include "CLinux.h"

int clinux_accept(int fd, struct sockaddr_storage *address, socklen_t *length) {
  return accept4(fd, (struct sockaddr *)address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int clinux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int clinux_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }
