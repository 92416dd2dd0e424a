/** Where the Services that webhook configurations name can be reached from this process. */
import { CallError } from './review.ts'

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceResolver {
  /** The base address (`https://127.0.0.1:9443`) behind a Service. Throws `CallError` when there is none. */
  resolve(service: ServiceReference): string
}

/**
 * Services by `namespace/name`, or `namespace/name:port` where a Service has several.
 * `exists` tells whether there is such a Service, for the words about one that leads nowhere.
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
