#ifndef KINVAULT_NETWORK_H
#define KINVAULT_NETWORK_H

/// A non-blocking descriptor that becomes readable when a network link comes up or a route appears or goes.
/// Returns the descriptor, or a negative errno.
int kv_watch_network(void);

#endif
