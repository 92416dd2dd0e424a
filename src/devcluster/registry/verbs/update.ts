/** Handles PUT requests. A PUT replaces an object. A PUT to a subresource replaces only the fields that belong to the subresource. */
import { invalid } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { DecodedObject, RequestContext } from '../../apimachinery/request-context.ts'
import { conflict, invalidObject } from '../../apimachinery/status-error.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { checkName, checkNamespace, decodeBody, decodeSubresource } from '../decode.ts'
import { givenRevision, metadataText } from '../metadata.ts'
import type { Write } from '../write/description.ts'

/**
 * Storage keys of the built-in types for which a PUT creates a missing object. In Kubernetes, the strategies of these types return true for
 * AllowCreateOnUpdate.
 */
const createdByUpdate: ReadonlySet<string> = new Set([
  '/endpoints',
  '/events',
  '/limitranges',
  '/services',
  'coordination.k8s.io/leases',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
])

/**
 * Storage keys of the built-in types for which a PUT requires a resourceVersion. In Kubernetes, the strategies of these types return false
 * for AllowUnconditionalUpdate. A PUT of a custom resource also requires a resourceVersion.
 */
const locked: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiextensions.k8s.io/customresourcedefinitions',
  'coordination.k8s.io/leases',
  'policy/poddisruptionbudgets',
])

/**
 * Returns the `Write` of a PUT. Throws a `StatusError` for an invalid body, or if the name or namespace in the body differs from the name
 * or namespace in the URL.
 */
export function updateOf(info: ResourceInfo, key: ObjectKey, decoded: DecodedObject, context: RequestContext, subresource: string): Write {
  const hasOwnType = info.subresources[subresource]?.write !== undefined
  const object = hasOwnType ? decodeSubresource(info, subresource, decoded, context) : decodeBody(info, decoded, context)
  checkName(object, key.name)
  checkNamespace(info, object, key.namespace)
  return {
    key,
    subresource,
    context,
    creates: subresource === '' && createdByUpdate.has(info.storageKey) && 'if missing',
    requested(old) {
      if (old !== undefined) checkUid(info, key, object, old)
      if (old !== undefined && (info.custom || locked.has(info.storageKey)) && !hasOwnType && givenRevision(object) === undefined) {
        const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update')
        throw invalidObject({ group: info.group, kind: info.plural }, key.name, [error])
      }
      return object
    },
  }
}

function checkUid(info: ResourceInfo, key: ObjectKey, object: JsonObject, old: JsonObject): void {
  const uid = metadataText(object, 'uid')
  const oldUid = metadataText(old, 'uid')
  if (uid !== '' && uid !== oldUid) throw conflict(info, key.name, preconditionFailed(info, key, uid, oldUid))
}

/** Returns the message of kube-apiserver's storage layer for a request whose uid differs from the uid of the stored object. */
function preconditionFailed(info: ResourceInfo, { namespace, name }: ObjectKey, uid: string, oldUid: string): string {
  const path = [...(info.custom ? [info.group] : []), info.plural, ...(namespace === undefined ? [] : [namespace]), name].join('/')
  return `StorageError: invalid object, Code: 4, Key: /registry/${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${oldUid}`
}
