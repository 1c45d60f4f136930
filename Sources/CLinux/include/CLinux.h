#pragma once
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Macros and enumerators whose Swift import is missing or awkwardly typed.
static const uint32_t clinux_EPOLLIN = EPOLLIN;
static const uint32_t clinux_EPOLLOUT = EPOLLOUT;
static const uint32_t clinux_EPOLLERR = EPOLLERR;
static const uint32_t clinux_EPOLLHUP = EPOLLHUP;
static const uint32_t clinux_EPOLLRDHUP = EPOLLRDHUP;
static const uint32_t clinux_EPOLLEXCLUSIVE = EPOLLEXCLUSIVE;
static const uint32_t clinux_EPOLLONESHOT = EPOLLONESHOT;
static const int clinux_SOCK_STREAM = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
static const int clinux_MSG_NOSIGNAL = MSG_NOSIGNAL;

// GNU extensions, compiled in CLinux.c: this header must see the same C library as Swift's Glibc module does.
int clinux_accept(int fd, struct sockaddr_storage *address, socklen_t *length);
int clinux_eventfd(void);
// Nanoseconds; below 0 is for ever. Falls back to epoll_wait's milliseconds, rounded up, before Linux 5.11.
int clinux_epoll_wait(int set, struct epoll_event *events, int capacity, int64_t nanoseconds);
int clinux_set_thread_name(const char *name);
