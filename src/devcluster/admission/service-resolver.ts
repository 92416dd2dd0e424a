/** Resolves the Services of webhook configurations to addresses that this process can reach. */
import { CallError } from './review.ts'

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceResolver {
  /** Returns the base URL (`https://127.0.0.1:9443`) of a Service. Throws `CallError` when the Service has no address. */
  resolve(service: ServiceReference): string
}

/**
 * Resolves Services with a map, whose keys are `namespace/name`, or `namespace/name:port` for a Service with several ports. The error
 * message distinguishes a Service without an address from one that does not exist (`exists`).
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
