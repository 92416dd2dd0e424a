/** Validation of the annotations of Pods and Pod templates (k8s.io/kubernetes/pkg/apis/core/validation: ValidatePodSpecificAnnotations). */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { getOwn, isObject } from '../../../../api/json.ts'
import { textAt } from '../../../apimachinery/unstructured.ts'
import { relativePath } from './file-paths.ts'
import { containersOf } from './pod-facts.ts'

const mirror = 'kubernetes.io/config.mirror'
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const seccompOfPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

export function validatePodAnnotations(annotations: JsonValue | undefined, spec: JsonObject, path: string): FieldError[] {
  if (!isObject(annotations)) return []
  const errors: FieldError[] = []
  if (mirror in annotations && textAt(spec, 'nodeName') === '')
    errors.push(invalid(`${path}[${mirror}]`, annotations[mirror], 'must set spec.nodeName if mirror pod annotation is set'))
  const cost = getOwn(annotations, deletionCost)
  if (typeof cost === 'string' && !isInt32(cost)) errors.push(invalid(`${path}[${deletionCost}]`, cost, 'must be a 32bit integer'))
  for (const [key, value] of Object.entries(annotations))
    if (key === seccompOfPod || key.startsWith(seccompPrefix)) errors.push(...validateSeccomp(String(value), `${path}.${key}`))
  for (const [key, value] of Object.entries(annotations))
    if (key.startsWith(appArmorPrefix)) errors.push(...validateAppArmor(key, String(value), spec, path))
  return errors
}

/**
 * Returns true for a decimal number that fits into 32 bits. The first character must not be a plus sign. The first digit of a positive
 * number must not be 0 (GetDeletionCostFromPodAnnotations).
 */
function isInt32(text: string): boolean {
  return /^(?:0|-\d+|[1-9]\d*)$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31
}

const seccompNames = ['runtime/default', 'docker/default', 'unconfined']

function validateSeccomp(profile: string, path: string): FieldError[] {
  if (seccompNames.includes(profile)) return []
  return profile.startsWith('localhost/')
    ? relativePath(profile.slice('localhost/'.length), path)
    : [invalid(path, profile, 'must be a valid seccomp profile')]
}

const appArmorNames = ['', 'runtime/default', 'unconfined']

function validateAppArmor(key: string, profile: string, spec: JsonObject, path: string): FieldError[] {
  const name = key.slice(appArmorPrefix.length)
  const here = `${path}[${key}]`
  const isKnown = containersOf(spec, '').some(([container]) => textAt(container, 'name') === name)
  const isValid = appArmorNames.includes(profile) || profile.startsWith('localhost/')
  return [
    ...(isKnown ? [] : [invalid(here, name, 'container not found')]),
    ...(isValid ? [] : [invalid(here, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)]),
  ]
}

/**
 * Validates that an update does not add, change or remove the mirror Pod annotation or the AppArmor annotations
 * (ValidatePodSpecificAnnotationUpdates).
 */
export function validateAnnotationsUpdate(now: JsonValue | undefined, before: JsonValue | undefined, path: string): FieldError[] {
  const [current, old] = [isObject(now) ? now : {}, isObject(before) ? before : {}]
  const changed = Object.keys(old).filter((key) => getOwn(current, key) !== old[key])
  const added = Object.keys(current).filter((key) => getOwn(old, key) === undefined)
  return [...changed.flatMap((key) => refuse(key, 'remove or update', path)), ...added.flatMap((key) => refuse(key, 'add', path))]
}

function refuse(key: string, verb: string, path: string): FieldError[] {
  const kind = key === mirror ? 'mirror pod annotation' : key.startsWith(appArmorPrefix) ? 'AppArmor annotations' : undefined
  return kind === undefined ? [] : [forbidden(`${path}[${key}]`, `may not ${verb} ${kind}`)]
}
