/**
 * Validation of the fields that the security contexts of Pods and of containers have in common
 * (k8s.io/kubernetes/pkg/apis/core/validation).
 */
import type { FieldError } from '../../../../api/field-error.ts'
import { invalid, notSupported, required, tooLong } from '../../../../api/field-error.ts'
import type { JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { longName } from '../../../../api/name-syntax.ts'
import { textAt } from '../../../apimachinery/unstructured.ts'
import { invalidStruct } from '../field-checks.ts'
import { relativePath } from './file-paths.ts'

const maxId = 2 ** 31 - 1

/** Validates the id of a user or group. */
export function validateId(id: JsonValue | undefined, path: string): FieldError[] {
  return typeof id === 'number' && (id < 0 || id > maxId) ? [invalid(path, id, `must be between 0 and ${maxId}, inclusive`)] : []
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']

function validateType(type: string, path: string, field: string): FieldError[] {
  if (type === '') return [required(path, `type is required when ${field} is set`)]
  return profileTypes.includes(type) ? [] : [notSupported(path, type, profileTypes)]
}

/** Validates `seccompProfile` (k8s.io/kubernetes/pkg/apis/core/validation: validateSeccompProfileField). */
export function validateSeccompProfile(profile: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(profile)) return []
  const type = textAt(profile, 'type')
  const errors = validateType(type, `${path}.type`, 'seccompProfile')
  const { localhostProfile: local } = profile
  const here = `${path}.localhostProfile`
  if (type !== 'Localhost') {
    const detail = 'can only be set when seccomp type is Localhost'
    const printed = { ...profile, type }
    return typeof local === 'string' ? [...errors, invalidStruct(here, printed, ['type', 'localhostProfile'], detail)] : errors
  }
  return typeof local === 'string'
    ? [...errors, ...relativePath(local, here)]
    : [...errors, required(here, 'must be set when seccomp type is Localhost')]
}

const maxProfileLength = 4095

/** Validates `appArmorProfile` (k8s.io/kubernetes/pkg/apis/core/validation: ValidateAppArmorProfileField). */
export function validateAppArmorProfile(profile: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(profile)) return []
  const type = textAt(profile, 'type')
  const { localhostProfile: local } = profile
  const here = `${path}.localhostProfile`
  if (type !== 'Localhost') {
    const errors = validateType(type, `${path}.type`, 'appArmorProfile')
    if (errors.length > 0 || typeof local !== 'string') return errors
    return [invalid(here, local, 'can only be set when AppArmor type is Localhost')]
  }
  if (typeof local !== 'string' || local === '') return [required(here, 'must be set when AppArmor type is Localhost')]
  return [
    ...(local.trim() === local ? [] : [invalid(here, local, 'must not be padded with whitespace')]),
    ...(Buffer.byteLength(local) > maxProfileLength ? [tooLong(here, maxProfileLength)] : []),
  ]
}

const maxSpecKiB = 64
const [maxDomainLength, maxUserLength] = [256, 104]
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`)

/** Validates `windowsOptions` (k8s.io/kubernetes/pkg/apis/core/validation: validateWindowsSecurityContextOptions). */
export function validateWindowsOptions(options: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(options)) return []
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = options
  return [
    ...(typeof name === 'string' ? longName(name).map((detail) => invalid(`${path}.gmsaCredentialSpecName`, name, detail)) : []),
    ...(typeof spec === 'string' ? specErrors(spec).map((detail) => invalid(`${path}.gmsaCredentialSpec`, spec, detail)) : []),
    ...(typeof user === 'string' ? userErrors(user).map((detail) => invalid(`${path}.runAsUserName`, user, detail)) : []),
  ]
}

function specErrors(spec: string): string[] {
  if (spec === '') return ['gmsaCredentialSpec cannot be an empty string']
  return Buffer.byteLength(spec) > maxSpecKiB * 1024 ? [`gmsaCredentialSpec size must be under ${maxSpecKiB} KiB`] : []
}

function userErrors(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (/[\u0000-\u001f\u007f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const [user, domain] = parts.length === 1 ? [parts[0]!, undefined] : [parts[1]!, parts[0]!]
  const errors: string[] = []
  if (domain !== undefined && domain.length >= maxDomainLength)
    errors.push(`runAsUserName's Domain length must be under ${maxDomainLength} characters`)
  if (domain !== undefined && !netBiosName.test(domain) && !dnsName.test(domain))
    errors.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  if (user === '') errors.push("runAsUserName's User cannot be empty")
  else if (user.length > maxUserLength) errors.push(`runAsUserName's User length must not be longer than ${maxUserLength} characters`)
  if (/^[. ]+$/.test(user)) errors.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) errors.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  return errors
}
