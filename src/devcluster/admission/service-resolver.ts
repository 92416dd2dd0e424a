/** Resolves the Services in webhook configurations to addresses that this process can reach. */
import { CallError } from './review.ts'

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceResolver {
  /**
   * Returns the base URL of a Service, such as `https://127.0.0.1:9443`.
   *
   * @throws {CallError} when the Service has no address.
   */
  resolve(service: ServiceReference): string
}

/**
 * Returns a resolver that looks up the addresses of Services in a map.
 *
 * @param services returns the addresses, keyed by `namespace/name`, or by `namespace/name:port` for a Service with several ports.
 * @param exists returns true if the Service exists. The error message is different for a Service that exists but has no address.
 */
export function mappedServices(
  services: () => Readonly<Record<string, string>>,
  exists: (service: ServiceReference) => boolean = () => true,
): ServiceResolver {
  return {
    resolve({ namespace, name, port }) {
      const known = services()
      const key = `${namespace}/${name}`
      const address = Object.hasOwn(known, `${key}:${port}`) ? known[`${key}:${port}`] : Object.hasOwn(known, key) ? known[key] : undefined
      if (address !== undefined) return address
      throw new CallError(
        exists({ namespace, name, port }) ? `no endpoints available for service "${name}"` : `service "${name}" not found`,
      )
    },
  }
}
