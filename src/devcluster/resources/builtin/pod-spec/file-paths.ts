/** Validation of file paths and file modes in volumes (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../../api/field-error.ts'
import { invalid } from '../../../../api/field-error.ts'
import type { JsonValue } from '../../../../api/json.ts'

/** Validates that a file path does not contain `..` as a segment (validatePathNoBacksteps). */
export function pathWithoutBacksteps(value: string, path: string): FieldError[] {
  return value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : []
}

/** Validates that a file path is relative and does not contain `..` as a segment (validateLocalDescendingPath). */
export function relativePath(value: string, path: string): FieldError[] {
  const errors = value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []
  return [...errors, ...pathWithoutBacksteps(value, path)]
}

/**
 * Validates that a file path is relative, does not contain `..` as a segment, and does not start with `..` (ValidateLocalNonReservedPath).
 */
export function localPath(value: string, path: string): FieldError[] {
  const errors = relativePath(value, path)
  return value.startsWith('..') && !value.startsWith('../') ? [...errors, invalid(path, value, "must not start with '..'")] : errors
}

const highestMode = 0o777

export function fileMode(mode: JsonValue | undefined, path: string): FieldError[] {
  return typeof mode === 'number' && (mode < 0 || mode > highestMode)
    ? [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
    : []
}
