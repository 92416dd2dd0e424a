/** Addresses with a fixed meaning in the network of the embedded cluster. Services have addresses in 10.96.0.0/16. */

/** The cluster IP of the Service `kubernetes`: the first address of the range for Services. */
export const apiServerAddress = '10.96.0.1'
/** The address at which Pods that run as processes reach the developer's machine. */
export const hostAddress = '10.96.0.2'
/** The address of the cluster's DNS server. Pods that run as processes use this server. */
export const dnsAddress = '10.96.0.10'
