/** Creates the ConfigMap `kube-root-ca.crt` in each namespace. */
import { configMap, namespace as namespaceType } from '../../api/builtin.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { defineController } from '../../controller/builder.ts'
import { ignoreRaces, inNamespaces } from './objects-of-namespaces.ts'

const name = 'kube-root-ca.crt'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or ' +
  'kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/**
 * Returns the controller that creates the ConfigMap `kube-root-ca.crt` in each namespace. If the ConfigMap is deleted, the controller
 * creates it again. If the CA certificate in the ConfigMap is changed, the controller restores the certificate.
 *
 * @param ca the CA certificate of the embedded API server as PEM.
 */
export function rootCaPublisher(ca: string): ControllerDefinition {
  return defineController(namespaceType, {
    name: 'root-ca-certificate-publisher',
    resyncPeriodMs: 0,
    workers: 2,
    watches: [{ type: configMap, map: inNamespaces(name) }],
    async reconcile({ metadata }, { client, cache }) {
      if (metadata.deletionTimestamp !== undefined) return
      const key = { namespace: metadata.name, name }
      const rootCa = cache.get(configMap, key)
      if (rootCa === undefined) {
        const annotations = { 'kubernetes.io/description': description }
        await client.create(configMap, { metadata: { ...key, annotations }, data: { 'ca.crt': ca } }).catch(ignoreRaces)
      } else if (rootCa.data?.['ca.crt'] !== ca) {
        await client.patch(configMap, key, { data: { 'ca.crt': ca } }).catch(ignoreRaces)
      }
    },
  })
}
