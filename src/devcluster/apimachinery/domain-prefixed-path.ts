/** Validates names such as `example.com/jobs`. */
import type { FieldError } from '../../api/field-error.ts'
import { invalid, required } from '../../api/field-error.ts'
import { dns1123Subdomain } from '../../api/name-syntax.ts'

/**
 * Validates that `value` consists of a DNS subdomain, a slash and a path (k8s.io/apimachinery/pkg/util/validation: IsDomainPrefixedPath).
 * `field` is the path of the field that the errors name.
 */
export function domainPrefixedPathErrors(value: string, field: string): FieldError[] {
  if (value === '') return [required(field)]
  const [, host, path] = /^([^/]+)\/(.+)$/s.exec(value) ?? []
  if (host === undefined || path === undefined) return [invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const errors = dns1123Subdomain(host).map((problem) => invalid(field, host, problem))
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path))
    errors.push(invalid(field, path, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"))
  return errors
}
