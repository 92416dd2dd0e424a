/** Builds field paths in the format of the API server. */
import type { FieldError } from './field-error.ts'
import { invalid } from './field-error.ts'

/** The path of an error that concerns no particular field. Go formats a nil `field.Path` this way. */
export const noField = '<nil>'

/** Returns the path of a field, e.g. `spec.name`. The path of the root is empty, so the path of a field of the root is only its name. */
export function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/**
 * Returns the path of a field. Unlike `childPath`, this function writes an empty field name as `[]`. kube-apiserver uses this format in the
 * errors of validation rules, `x-kubernetes-list-type` and `x-kubernetes-embedded-resource`.
 */
export function fieldChildPath(path: string, key: string): string {
  return key === '' ? `${path}[]` : childPath(path, key)
}

export function indexPath(path: string, index: number): string {
  return `${path}[${index}]`
}

/**
 * Returns the path of an entry of a map as `path[key]`. kube-apiserver uses this format, for example, when a validation rule rejects the
 * value of a map entry.
 */
export function keyPath(path: string, key: string): string {
  return `${path}[${key}]`
}

/** Returns a path as it is written in a field error. The empty path of the root is written as `<nil>`. */
export function fieldOf(path: string): string {
  return path === '' ? noField : path
}

/**
 * Returns an error with the path `<nil>`, as kube-apiserver does for some errors of schema validation. `text` must contain the name of the
 * field, because the path `<nil>` contains no name.
 */
export function childless(text: string): FieldError {
  return invalid(noField, '', text)
}
