/** The words of CEL's grammar: operators, by the functions that they call, and names that cannot be used. */

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
/** Words that are kept for languages that CEL is embedded in. */
export const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
