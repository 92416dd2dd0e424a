/** Rejects new objects in a missing or terminating namespace (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle). */
import { isObject } from '../../../api/json.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { ObjectStore } from '../../storage/object-store.ts'
import { metadataOf } from '../metadata.ts'
import { forbidden, notFound } from '../../apimachinery/status-error.ts'

const namespaces = { group: '', kind: 'Namespace', plural: 'namespaces', storageKey: '/namespaces' }

/** Throws 404 for a missing namespace, and 403 with the cause `NamespaceTerminating` for a terminating namespace. */
export function checkNamespaceIsActive(store: ObjectStore, info: ResourceInfo, namespace: string | undefined, name: string): void {
  if (!info.namespaced || namespace === undefined) return
  const object = store.latest(namespaces.storageKey, { name: namespace })
  if (object === undefined) throw notFound(namespaces, namespace)
  const phase = isObject(object.status) ? object.status.phase : undefined
  if (metadataOf(object).deletionTimestamp === undefined && phase !== 'Terminating') return
  throw forbidden(info, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
    { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' },
  ])
}
