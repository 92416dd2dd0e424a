/** Validation of `volumeMounts` and `volumeDevices` (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid, notFoundField, notSupported, required } from '../../../../api/field-error.ts'
import type { JsonObject } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { at, listAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import { relativePath } from './file-paths.ts'
import type { PodFacts } from './pod-facts.ts'

/** Returns the names and paths of the mounts or devices of a container. */
function placesOf(container: JsonObject, field: string, pathField: string): { readonly names: Set<string>; readonly paths: Set<string> } {
  const list = listAt(container, field)
  return { names: new Set(list.map((item) => textAt(item, 'name'))), paths: new Set(list.map((item) => textAt(item, pathField))) }
}

/**
 * Validates `volumeMounts` (k8s.io/kubernetes/pkg/apis/core/validation: ValidateVolumeMounts). As in kube-apiserver, the field path of some
 * errors does not contain the index of the volume mount, e.g. `volumeMounts.subPath` instead of `volumeMounts[0].subPath`.
 */
export function validateVolumeMounts(container: JsonObject, path: string, pod: PodFacts): FieldError[] {
  const devices = placesOf(container, 'volumeDevices', 'devicePath')
  const paths = new Set<string>()
  return objects(listAt(container, 'volumeMounts')).flatMap(([mount, index]) => {
    const here = `${path}[${index}]`
    const [name, mountPath] = [textAt(mount, 'name'), textAt(mount, 'mountPath')]
    const [subPath, expression] = [textAt(mount, 'subPath'), textAt(mount, 'subPathExpr')]
    const errors: FieldError[] = []
    if (name === '') errors.push(required(`${here}.name`))
    if (!pod.volumes.has(name)) errors.push(notFoundField(`${here}.name`, name))
    if (mountPath === '') errors.push(required(`${here}.mountPath`))
    if (paths.has(mountPath)) errors.push(invalid(`${here}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
    if (devices.names.has(name)) errors.push(invalid(`${here}.name`, name, 'must not already exist in volumeDevices'))
    if (devices.paths.has(mountPath))
      errors.push(invalid(`${here}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'))
    if (subPath !== '') errors.push(...relativePath(subPath, `${path}.subPath`))
    if (expression !== '') {
      if (subPath !== '') errors.push(invalid(`${here}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'))
      errors.push(...relativePath(expression, `${path}.subPathExpr`))
    }
    return [...errors, ...validatePropagation(mount, container, path), ...validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`)]
  })
}

const propagations = ['Bidirectional', 'HostToContainer', 'None']

function validatePropagation({ mountPropagation: propagation }: JsonObject, container: JsonObject, path: string): FieldError[] {
  if (typeof propagation !== 'string') return []
  const here = `${path}.mountPropagation`
  if (!propagations.includes(propagation)) return [notSupported(here, propagation, propagations)]
  return propagation === 'Bidirectional' && at(container, 'securityContext', 'privileged') !== true
    ? [forbidden(here, 'Bidirectional mount propagation is available only to privileged containers')]
    : []
}

const readOnlyModes = ['Disabled', 'Enabled', 'IfPossible']

function validateRecursiveReadOnly(mount: JsonObject, path: string): FieldError[] {
  const { recursiveReadOnly: mode, mountPropagation: propagation } = mount
  if (typeof mode !== 'string' || mode === 'Disabled') return []
  if (!readOnlyModes.includes(mode)) return [notSupported(path, mode, readOnlyModes)]
  const isPropagated = typeof propagation === 'string' && propagation !== 'None'
  return [
    ...(mount.readOnly === true ? [] : [forbidden(path, 'may only be specified when readOnly is true')]),
    ...(isPropagated ? [forbidden(path, 'may only be specified when mountPropagation is None or not specified')] : []),
  ]
}

/** Validates `volumeDevices` (k8s.io/kubernetes/pkg/apis/core/validation: ValidateVolumeDevices). */
export function validateVolumeDevices(container: JsonObject, path: string, pod: PodFacts): FieldError[] {
  const mounts = placesOf(container, 'volumeMounts', 'mountPath')
  const [paths, names] = [new Set<string>(), new Set<string>()]
  return objects(listAt(container, 'volumeDevices')).flatMap(([device, index]) => {
    const here = `${path}[${index}]`
    const [name, devicePath] = [textAt(device, 'name'), textAt(device, 'devicePath')]
    const volume = pod.volumes.get(name)
    const refuseName = (detail: string): FieldError => invalid(`${here}.name`, name, detail)
    const refusePath = (detail: string): FieldError => invalid(`${here}.devicePath`, devicePath, detail)
    const errors: FieldError[] = []
    if (name === '') errors.push(required(`${here}.name`))
    if (names.has(name)) errors.push(refuseName('must be unique'))
    if (volume === undefined) errors.push(notFoundField(`${here}.name`, name))
    else if (!isObject(volume.persistentVolumeClaim) && !isObject(volume.ephemeral))
      errors.push(refuseName('can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'))
    if (devicePath === '') errors.push(required(`${here}.devicePath`))
    if (paths.has(devicePath)) errors.push(refusePath('must be unique'))
    if (devicePath.split('/').includes('..')) errors.push(refusePath("can not contain backsteps ('..')"))
    else paths.add(devicePath)
    if (mounts.names.has(name)) errors.push(refuseName('must not already exist in volumeMounts'))
    if (mounts.paths.has(devicePath)) errors.push(refusePath('must not already exist as a path in volumeMounts'))
    if (name !== '') names.add(name)
    return errors
  })
}
