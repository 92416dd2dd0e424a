/**
 * Validation of the files that Secrets, ConfigMaps, Pod fields and tokens provide in volumes (k8s.io/kubernetes/pkg/apis/core/validation).
 */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { listAt, numberAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import { fileMode, localPath } from './file-paths.ts'
import { fileFields, validateFieldRef, validateResourceFieldRef } from './references.ts'

/** Validates the field `items` of a volume source of the type Secret or ConfigMap (validateKeyToPath). */
export function validateKeyFiles(items: readonly JsonValue[], path: string): FieldError[] {
  return objects(items).flatMap(([item, index]) => {
    const here = `${path}[${index}]`
    return [
      ...(textAt(item, 'key') === '' ? [required(`${here}.key`)] : []),
      ...validateFile(item, here),
      ...fileMode(item.mode, `${here}.mode`),
    ]
  })
}

function validateFile(item: JsonObject, path: string): FieldError[] {
  const file = textAt(item, 'path')
  return file === '' ? [required(`${path}.path`)] : localPath(file, `${path}.path`)
}

/** Validates the `items` of `downwardAPI` (validateDownwardAPIVolumeFile). As in kube-apiserver's errors, the field paths have no index. */
export function validateDownwardFiles(items: readonly JsonValue[], path: string): FieldError[] {
  return objects(items).flatMap(([item]) => [
    ...validateFile(item, path),
    ...validateDownwardSource(item, path),
    ...fileMode(item.mode, `${path}.mode`),
  ])
}

function validateDownwardSource({ fieldRef, resourceFieldRef }: JsonObject, path: string): FieldError[] {
  if (isObject(fieldRef)) {
    const errors = validateFieldRef(fieldRef, `${path}.fieldRef`, fileFields)
    return isObject(resourceFieldRef)
      ? [...errors, invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
      : errors
  }
  return isObject(resourceFieldRef)
    ? validateResourceFieldRef(resourceFieldRef, `${path}.resourceFieldRef`, true)
    : [required(path, 'one of fieldRef and resourceFieldRef is required')]
}

const [minTokenSeconds, maxTokenSeconds] = [600, 2 ** 32]

/**
 * Validates the sources of a projected volume. Sources with certificates or trust bundles are not validated, because the feature gates of
 * these sources are disabled.
 */
export function validateProjections(volume: JsonObject, path: string): FieldError[] {
  const taken = new Set<string>()
  const claim = (file: string, value: string): FieldError[] => {
    if (file === '') return []
    if (taken.has(file)) return [invalid(path, value, 'conflicting duplicate paths')]
    taken.add(file)
    return []
  }
  return objects(listAt(volume, 'sources')).flatMap(([source, index]) => {
    const here = `${path}.sources[${index}]`
    const given = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'].filter((kind) => isObject(source[kind]))
    const errors = given.flatMap((kind) => {
      const items = listAt(source, kind, 'items')
      if (kind === 'serviceAccountToken') return validateToken(source[kind] as JsonObject, `${here}.${kind}`, path)
      if (kind === 'downwardAPI')
        return items.flatMap((item) => [
          ...validateDownwardFiles([item], `${here}.${kind}`),
          ...claim(textAt(item, 'path'), textAt(item, 'path')),
        ])
      const name = textAt(source, kind, 'name')
      return [
        ...(name === '' ? [required(`${here}.${kind}.name`)] : []),
        ...validateKeyFiles(items, `${here}.${kind}.items`),
        ...items.flatMap((item) => claim(textAt(item, 'path'), name)),
      ]
    })
    return given.length > 1 ? [...errors, forbidden(here, 'may not specify more than 1 volume type per source')] : errors
  })
}

/**
 * Validates a `serviceAccountToken`. `path` is the field path of the token, and `volumePath` is the field path of the projected volume. If
 * the file path of the token is invalid, the error names a field of the volume and not a field of the token, as in kube-apiserver.
 */
function validateToken(token: JsonObject, path: string, volumePath: string): FieldError[] {
  const seconds = numberAt(token, 'expirationSeconds')
  const refuse = (detail: string): FieldError[] => [invalid(`${path}.expirationSeconds`, seconds, detail)]
  return [
    ...(seconds < minTokenSeconds ? refuse('may not specify a duration less than 10 minutes') : []),
    ...(seconds > maxTokenSeconds ? refuse('may not specify a duration larger than 2^32 seconds') : []),
    ...validateFile(token, volumePath),
  ]
}
