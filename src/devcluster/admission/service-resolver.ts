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
 * Returns a resolver that looks up the address of a Service in a map, and then with `endpointOf`. The map takes precedence, because the
 * endpoints of a Service may be simulated Pods, and nothing listens at the addresses of simulated Pods.
 *
 * @param services returns the map. Its keys are `namespace/name`, or `namespace/name:port` for a Service with several ports.
 * @param exists returns true if the Service exists. This determines the error message for a Service without an address.
 * @param endpointOf returns the address of a Service that is not in the map; undefined if the Service has no address.
 */
export function mappedServices(
  services: () => Readonly<Record<string, string>>,
  exists: (service: ServiceReference) => boolean = () => true,
  endpointOf: (service: ServiceReference) => string | undefined = () => undefined,
): ServiceResolver {
  return {
    resolve(service) {
      const { namespace, name, port } = service
      const known = services()
      const key = `${namespace}/${name}`
      const mapped = Object.hasOwn(known, `${key}:${port}`) ? known[`${key}:${port}`] : Object.hasOwn(known, key) ? known[key] : undefined
      const address = mapped ?? endpointOf(service)
      if (address !== undefined) return address
      throw new CallError(exists(service) ? `no endpoints available for service "${name}"` : `service "${name}" not found`)
    },
  }
}
