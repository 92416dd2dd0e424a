/** CEL's operators with the names of their functions, and CEL's reserved words. */

export const relations = new Map([
  ['<', '_<_'],
  ['<=', '_<=_'],
  ['>', '_>_'],
  ['>=', '_>=_'],
  ['==', '_==_'],
  ['!=', '_!=_'],
  ['in', '@in'],
])
export const sums = new Map([
  ['+', '_+_'],
  ['-', '_-_'],
])
export const products = new Map([
  ['*', '_*_'],
  ['/', '_/_'],
  ['%', '_%_'],
])
export const keywords = new Set(['in', 'true', 'false', 'null'])
/** Identifiers that CEL reserves, because the languages in which CEL is embedded may use them as keywords. */
export const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
