/** The admission plugin PersistentVolumeClaimResize (k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize). */
import type { JsonObject } from '../../api/json.ts'
import { forbidden } from '../apimachinery/status-error.ts'
import { at, textAt } from '../apimachinery/unstructured.ts'
import { classAnnotation, requestedSize } from '../resources/builtin/volume-updates.ts'
import type { Admission, AdmissionAttributes } from './admission.ts'

/** Returns the storage class with this name; undefined when there is none. */
export type FindStorageClass = (name: string) => JsonObject | undefined

/** Returns `next` with the plugin added. The plugin runs in `validate`, before `next.validate` is called. */
export function withClaimResizeCheck(next: Admission, findClass: FindStorageClass): Admission {
  return {
    mutate: (attributes, redefault) => next.mutate(attributes, redefault),
    validate(attributes) {
      return Promise.resolve().then(() => {
        check(attributes, findClass)
        return next.validate(attributes)
      })
    },
  }
}

/** Rejects an increase of the size if the storage class of the claim does not allow the expansion of volumes. */
function check({ info, subresource, name, object, oldObject }: AdmissionAttributes, findClass: FindStorageClass): void {
  if (info.storageKey !== '/persistentvolumeclaims' || subresource !== '' || object === undefined || oldObject === undefined) return
  if (requestedSize(object) <= requestedSize(oldObject)) return
  if (textAt(oldObject, 'status', 'phase') !== 'Bound') throw forbidden(info, name, 'Only bound persistent volume claims can be expanded')
  const storageClass = classOf(object)
  const canExpand = storageClass !== '' && storageClass === classOf(oldObject) && findClass(storageClass)?.allowVolumeExpansion === true
  if (!canExpand)
    throw forbidden(
      info,
      name,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
}

/** Returns the name of the storage class of a claim; an empty string when the claim has none. */
function classOf(claim: JsonObject): string {
  const named = at(claim, 'metadata', 'annotations', classAnnotation)
  return typeof named === 'string' ? named : textAt(claim, 'spec', 'storageClassName')
}
