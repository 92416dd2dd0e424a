/** Creates the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` in each namespace. */
import { configMap, namespace as namespaceType, serviceAccount } from '../../api/builtin.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../../client/api-error.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { defineController } from '../../controller/builder.ts'

const accountName = 'default'
const rootCaName = 'kube-root-ca.crt'
const rootCaDescription =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or ' +
  'kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/**
 * Returns the controller that creates the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` in each namespace. The controller
 * creates them again after they are deleted, and restores a changed CA certificate in the ConfigMap.
 *
 * @param ca the CA certificate of the embedded API server as PEM.
 */
export function serviceAccountController(ca: string): ControllerDefinition {
  const namespaceOf = (wanted: string) => (object: { readonly metadata: { readonly name: string; readonly namespace?: string } }) =>
    object.metadata.name === wanted && object.metadata.namespace !== undefined ? [{ name: object.metadata.namespace }] : []
  return defineController(namespaceType, {
    name: 'serviceaccount',
    resyncPeriodMs: 0,
    workers: 2,
    watches: [
      { type: serviceAccount, map: namespaceOf(accountName) },
      { type: configMap, map: namespaceOf(rootCaName) },
    ],
    async reconcile({ metadata }, { client, cache }) {
      if (metadata.deletionTimestamp !== undefined) return
      const namespace = metadata.name
      if (cache.get(serviceAccount, { namespace, name: accountName }) === undefined) {
        await client.create(serviceAccount, { metadata: { namespace, name: accountName } }).catch(ignoreRaces)
      }
      const rootCa = cache.get(configMap, { namespace, name: rootCaName })
      if (rootCa === undefined) {
        const annotations = { 'kubernetes.io/description': rootCaDescription }
        await client
          .create(configMap, { metadata: { namespace, name: rootCaName, annotations }, data: { 'ca.crt': ca } })
          .catch(ignoreRaces)
      } else if (rootCa.data?.['ca.crt'] !== ca) {
        await client.patch(configMap, { namespace, name: rootCaName }, { data: { 'ca.crt': ca } }).catch(ignoreRaces)
      }
    },
  })
}

/** Ignores the errors of a write that is no longer needed: the object already exists, or its namespace is terminating or deleted. */
function ignoreRaces(error: unknown): void {
  if (!isAlreadyExists(error) && !isNotFound(error) && !isForbidden(error)) throw error
}
