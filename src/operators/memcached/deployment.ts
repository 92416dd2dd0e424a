/** The Deployment of a Memcached. */
import { controllerReference, keyOf } from 'proreus'
import type { DeepReadonly } from 'proreus'
import type { Memcached } from './kind.ts'

/**
 * The key of the label whose value is the name of the Memcached. Because of this label, the Deployment of a Memcached never selects the
 * Pods of another Memcached.
 */
export const nameLabel = 'memcached_cr'

/** The default of the environment variable MEMCACHED_IMAGE. */
export const defaultImage = 'memcached:1.4.36-alpine'

/** The default port of the program memcached. For this port, the flag `-p` is not necessary. */
const defaultPort = 11_211

export function labelsOf(name: string): { readonly app: string; readonly [nameLabel]: string } {
  return { app: 'memcached', [nameLabel]: name }
}

/** Returns a Deployment that contains only the fields set by the operator. Other clients can set other fields of the same Deployment. */
export function deploymentFor(owner: DeepReadonly<Memcached>, image: string) {
  const { size, containerPort } = owner.spec
  const key = keyOf(owner)
  const labels = { ...labelsOf(key.name) }
  const container = {
    name: 'memcached',
    image,
    command: ['memcached', '-m=64', '-o', 'modern', '-v', ...(containerPort === defaultPort ? [] : ['-p', String(containerPort)])],
    ports: [{ name: 'memcached', containerPort, protocol: 'TCP' }],
    securityContext: { runAsUser: 1001, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  }
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
  return {
    metadata: { ...key, labels, ownerReferences: [controllerReference(owner)] },
    spec: {
      replicas: size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { securityContext, containers: [container] } },
    },
  }
}
