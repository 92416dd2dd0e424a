/** Validation of CertificateSigningRequests (k8s.io/kubernetes/pkg/apis/certificates/validation). */
import { X509Certificate } from 'node:crypto'
import { messageOf } from '../../../api/errors.ts'
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, forbidden, invalid, notSupported, quote, required, tooLong } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { dns1123Label, dns1123Subdomain } from '../../../api/name-syntax.ts'
import { readCertificateRequest } from '../../../certs/certificate-request.ts'
import { listAt, textAt } from '../../apimachinery/unstructured.ts'

const usages = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment', 'decipher only'],
  ...['digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement'],
  ...['key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', 'timestamping'],
]
const leastExpirationSeconds = 600
const statuses = ['False', 'True', 'Unknown']
/** Types of the conditions whose status must be `True`. */
const decisions: ReadonlySet<string> = new Set(['Approved', 'Denied', 'Failed'])
/** Maximum lengths of a DNS label and of a DNS domain. The maximum length of a signer name results from these two lengths. */
const [maxLabel, maxDomain] = [63, 253]
const conditionsPath = 'status.conditions'
/**
 * This expression matches no PEM block that contains the start of another block. Each attempt to match therefore ends before the next block
 * start. As a result, the search takes linear time, even if the text contains many block starts but no block end.
 */
const pemBlock = /-----BEGIN ([^-\n]+)-----\r?\n((?:(?!-----BEGIN )[\s\S])*?)-----END \1-----/g

export function validateNewRequest(object: JsonObject): FieldError[] {
  const spec = isObject(object.spec) ? object.spec : {}
  const wanted = listAt(spec, 'usages')
  const errors: FieldError[] = requestErrors(spec)
  if (wanted.length === 0) errors.push(required('spec.usages'))
  for (const [index, usage] of wanted.entries())
    if (!usages.includes(String(usage))) errors.push(notSupported(`spec.usages[${index}]`, usage, usages))
  const seen = new Set<JsonValue>()
  for (const [index, usage] of wanted.entries())
    if (seen.size === seen.add(usage).size) errors.push(duplicate(`spec.usages[${index}]`, usage))
  errors.push(...validateSignerName(textAt(spec, 'signerName'), 'spec.signerName'))
  const { expirationSeconds } = spec
  if (typeof expirationSeconds === 'number' && expirationSeconds < leastExpirationSeconds)
    errors.push(invalid('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)'))
  return errors
}

function requestErrors(spec: JsonObject): FieldError[] {
  try {
    readCertificateRequest(Buffer.from(textAt(spec, 'request'), 'base64').toString('latin1'))
    return []
  } catch (error) {
    return [invalid('spec.request', spec.request ?? null, messageOf(error))]
  }
}

/** Validates the status in an update. The spec is immutable, so it is not validated again. */
export function validateRequestUpdate(object: JsonObject, old: JsonObject, subresource: string): FieldError[] {
  const errors = [...conditionErrors(object, old), ...certificateErrors(object, old)]
  const of = (whole: JsonObject, type: string): JsonValue[] =>
    listAt(whole, 'status', 'conditions').filter((condition) => textAt(condition, 'type') === type)
  for (const type of decisions)
    if (of(object, type).length < of(old, type).length)
      errors.push(forbidden(conditionsPath, `updates may not remove a condition of type ${quote(type)}`))
  if (subresource !== 'approval') {
    for (const type of ['Approved', 'Denied']) {
      const [now, before] = [of(object, type), of(old, type)]
      if (now.length > before.length) errors.push(forbidden(conditionsPath, `updates may not add a condition of type ${quote(type)}`))
      else if (now.length === before.length && !jsonEqual(now, before))
        errors.push(forbidden(conditionsPath, `updates may not modify a condition of type ${quote(type)}\n`))
    }
  }
  const [now, before] = [textAt(object, 'status', 'certificate'), textAt(old, 'status', 'certificate')]
  if (now !== before && subresource !== 'status') errors.push(forbidden('status.certificate', 'updates may not set certificate content'))
  else if (now !== before && before !== '')
    errors.push(forbidden('status.certificate', 'updates may not modify existing certificate content'))
  return errors
}

function conditionErrors(object: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const conditions = listAt(object, 'status', 'conditions')
  if (jsonEqual(conditions, listAt(old, 'status', 'conditions'))) return []
  for (const [index, condition] of conditions.entries()) {
    const path = `${conditionsPath}[${index}]`
    const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')]
    if (type === '') errors.push(required(`${path}.type`))
    const allowed = decisions.has(type) ? ['True'] : statuses
    if (status === '') errors.push(required(`${path}.status`))
    else if (!allowed.includes(status)) errors.push(notSupported(`${path}.status`, status, allowed))
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (opposite !== undefined && seen.has(opposite))
      errors.push(invalid(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive'))
    if (seen.has(type)) errors.push(duplicate(`${path}.type`, type))
    seen.add(type)
  }
  return errors
}

/** Validates a new certificate. As in kube-apiserver, errors contain `<certificate data>` instead of the certificate. */
function certificateErrors(object: JsonObject, old: JsonObject): FieldError[] {
  const certificate = textAt(object, 'status', 'certificate')
  if (certificate === '' || certificate === textAt(old, 'status', 'certificate')) return []
  const problem = certificateProblem(Buffer.from(certificate, 'base64').toString('latin1'))
  return problem === undefined ? [] : [invalid('status.certificate', '<certificate data>', problem)]
}

function certificateProblem(pem: string): string | undefined {
  const blocks = [...pem.matchAll(pemBlock)]
  for (const [block, label, content = ''] of blocks) {
    if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(label!)}`
    if (content.includes(':')) return 'no PEM block headers are permitted'
    try {
      new X509Certificate(block)
    } catch (error) {
      return messageOf(error)
    }
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

/** Validates the name of a signer, e.g. `example.com/signer` (k8s.io/kubernetes/pkg/apis/core/validation: ValidateSignerName). */
function validateSignerName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)]
  if (name === 'kubernetes.io/legacy-unknown') return [invalid(path, name, 'the legacy signerName is not allowed via this API version')]
  const [domain = '', rest, ...more] = name.split('/')
  if (rest === undefined || more.length > 0)
    return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const errors = domain.length > maxDomain ? [tooLong(path, maxDomain)] : []
  errors.push(...firstLabelErrors(domain, path, dns1123Label))
  if (!domain.includes('.')) errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'))
  errors.push(...firstLabelErrors(rest, path, dns1123Subdomain))
  const longest = maxDomain + maxDomain + maxLabel + 1 + 1
  return name.length > longest ? [...errors, tooLong(path, longest)] : errors
}

/** Validates the DNS labels in the domain or in the path of a signer name. Returns the errors of the first invalid label. */
function firstLabelErrors(segment: string, path: string, validate: (label: string) => string[]): FieldError[] {
  for (const label of segment.split('.')) {
    const problems = validate(label)
    if (problems.length > 0)
      return problems.map((problem) =>
        invalid(path, segment, `validating label ${quote(label)}: ${problem.replace(/ bytes$/, ' characters')}`),
      )
  }
  return []
}
