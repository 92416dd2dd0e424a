/**
 * The type checker of CEL expressions. It resolves the overloads of every call and the type of every field, and reports issues with their
 * position in the source (`cel-go/checker: checker.go`).
 */
import type { Call, Comprehension, Expr, Select } from '../syntax/ast.ts'
import { qualifiedName } from '../syntax/ast.ts'
import type { Checked, Declarations } from '../plan/checked.ts'
import type { Overload } from '../library/declarations.ts'
import { isReserved } from '../types/escape.ts'
import type { Issue } from '../syntax/issues.ts'
import type { Type } from '../types/types.ts'
import {
  boolType,
  dynType,
  errorType,
  formatType,
  intType,
  listType,
  mapType,
  optionalType,
  parameterType,
  sameType,
  typeType,
  unwrapOptional,
} from '../types/types.ts'
import type { Mapping } from '../types/unify.ts'
import { assign, assignAll, formatArguments, mostGeneral, substitute } from '../types/unify.ts'
import { namedTypes, typeOfValue } from '../types/type-of-value.ts'

export function check(expr: Expr, declarations: Declarations): { checked: Checked; issues: readonly Issue[] } {
  const checker = new Checker(declarations)
  const checked = checker.run(expr)
  return { checked, issues: checker.issues }
}

class Checker {
  readonly issues: Issue[] = []
  readonly #declarations: Declarations
  readonly #types = new Map<Expr, Type>()
  readonly #overloads = new Map<Expr, readonly Overload[]>()
  readonly #functionNames = new Map<Expr, string>()
  readonly #typeNames = new Map<Expr, Type>()
  readonly #used = new Set<string>()
  readonly #scopes: Map<string, Type>[] = []
  #mapping: Mapping = new Map()
  #freeVariables = 0

  constructor(declarations: Declarations) {
    this.#declarations = declarations
  }

  run(expr: Expr): Checked {
    this.#check(expr)
    const types = new Map([...this.#types].map(([node, type]) => [node, substitute(this.#mapping, type, true)]))
    return {
      expr,
      types,
      overloads: this.#overloads,
      functionNames: this.#functionNames,
      typeNames: this.#typeNames,
      used: this.#used,
    }
  }

  #report(offset: number, message: string): void {
    this.issues.push({ offset, message })
  }

  #check(expr: Expr): Type {
    const type = this.#typeOf(expr)
    this.#types.set(expr, type)
    return type
  }

  #typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return typeOfValue(expr.value)
      case 'ident':
        return this.#lookUp(expr, expr.name) ?? this.#undeclared(expr.offset, expr.name)
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr.elements, expr.optionals)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return this.#struct(expr)
      case 'comprehension':
        return this.#comprehension(expr)
    }
  }

  #undeclared(offset: number, name: string): Type {
    this.#report(offset, `undeclared reference to '${name}' (in container '')`)
    return errorType
  }

  /**
   * Returns the type of a name. Local variables of inner scopes take precedence over those of outer scopes. After the local variables, the
   * declared variables are searched, and then the type names.
   */
  #lookUp(expr: Expr, name: string): Type | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name
    for (let index = this.#scopes.length - 1; index >= 0; index -= 1) {
      const type = this.#scopes[index]!.get(plain)
      if (type !== undefined) return type
    }
    const variable = this.#declarations.variables.get(plain)
    if (variable !== undefined) {
      this.#used.add(plain)
      return variable
    }
    const named = namedTypes.get(plain)
    if (named === undefined) return undefined
    this.#typeNames.set(expr, named)
    return typeType(named)
  }

  #select(expr: Select): Type {
    const qualified = expr.testOnly ? undefined : qualifiedName(expr)
    const named = qualified === undefined ? undefined : this.#lookUp(expr, qualified)
    if (named !== undefined) return named
    const type = this.#field(expr.operand, expr.field, expr.offset, false)
    return expr.testOnly ? boolType : substitute(this.#mapping, type, false)
  }

  #field(operand: Expr, field: string, offset: number, optional: boolean): Type {
    const checked = this.#check(operand)
    const operandType = substitute(this.#mapping, checked, false)
    const inner = unwrapOptional(operandType)
    const type = this.#fieldOf(inner ?? operandType, field, offset)
    return inner !== undefined || optional ? optionalType(type) : type
  }

  #fieldOf(target: Type, field: string, offset: number): Type {
    switch (target.kind) {
      case 'map':
        return target.parameters[1]!
      case 'struct': {
        const fields = target.declared?.fields
        if (fields === undefined) {
          this.#report(offset, `unexpected failed resolution of '${target.name}'`)
          return errorType
        }
        // A field whose name is a reserved word, such as `namespace`, is declared as `__namespace__`. kube-apiserver also accepts
        // `self.namespace` (`k8s.io/apiserver/pkg/cel: types.go, FindStructFieldType`).
        const declared = fields.get(field) ?? (isReserved(field) ? fields.get(`__${field}__`) : undefined)
        if (declared !== undefined) return declared.type
        this.#report(offset, `undefined field '${field}'`)
        return errorType
      }
      case 'parameter':
        this.#assign(dynType, target)
        return dynType
      case 'dyn':
      case 'error':
        return dynType
      default:
        this.#report(offset, `type '${formatType(target)}' does not support field selection`)
        return dynType
    }
  }

  #call(expr: Call): Type {
    if (expr.name === '_?._') {
      const field = expr.args[1]!
      this.#check(field)
      const type = this.#field(expr.args[0]!, field.kind === 'literal' ? String(field.value) : '', expr.offset, true)
      return substitute(this.#mapping, type, false)
    }
    const args = expr.args.map((arg) => this.#check(arg))
    if (expr.target === undefined) {
      const name = expr.name.startsWith('.') ? expr.name.slice(1) : expr.name
      if (!this.#declarations.functions.has(name)) return this.#undeclared(expr.offset, expr.name)
      return this.#resolve(expr, name, args, false)
    }
    const prefix = qualifiedName(expr.target)
    const qualified = prefix === undefined ? undefined : `${prefix.replace(/^\./, '')}.${expr.name}`
    if (qualified !== undefined && this.#declarations.functions.has(qualified)) {
      this.#functionNames.set(expr, qualified)
      return this.#resolve(expr, qualified, args, false)
    }
    const target = this.#check(expr.target)
    if (!this.#declarations.functions.has(expr.name)) return this.#undeclared(expr.offset, expr.name)
    return this.#resolve(expr, expr.name, [target, ...args], true)
  }

  #resolve(expr: Call, name: string, args: readonly Type[], isMember: boolean): Type {
    if (name === '_&&_' || name === '_||_') return this.#logical(expr, name, args)
    const matching: Overload[] = []
    let result: Type | undefined
    for (const overload of this.#declarations.functions.get(name)!) {
      if (overload.member !== isMember) continue
      const fresh: Mapping = new Map(overload.typeParameters.map((parameter) => [parameter, this.#freeVariable()]))
      const parameters = overload.parameters.map((type) => substitute(fresh, type, false))
      const mapping = assignAll(this.#mapping, args, parameters)
      if (mapping === undefined) continue
      this.#mapping = mapping
      matching.push(overload)
      const type = substitute(mapping, substitute(fresh, overload.result, false), false)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && !sameType(type, result)) result = dynType
    }
    if (result === undefined) {
      const types = args.map((type) => substitute(this.#mapping, type, true))
      this.#report(expr.offset, `found no matching overload for '${name}' applied to '${formatArguments(types, isMember)}'`)
      return errorType
    }
    this.#overloads.set(expr, matching)
    return result
  }

  #logical(expr: Call, name: string, args: readonly Type[]): Type {
    let type: Type = boolType
    args.forEach((arg, index) => {
      if (this.#assign(arg, boolType)) return
      this.#report(expr.args[index]!.offset, `expected type 'bool' but found '${formatType(arg)}'`)
      type = errorType
    })
    this.#overloads.set(expr, this.#declarations.functions.get(name)!)
    return type
  }

  #list(elements: readonly Expr[], optionals: readonly number[]): Type {
    let joined: Type | undefined
    elements.forEach((element, index) => {
      const type = this.#entry(element, this.#check(element), optionals.includes(index))
      joined = this.#join(joined, type)
    })
    return listType(joined ?? this.#freeVariable())
  }

  #map(expr: Expr & { kind: 'map' }): Type {
    let key: Type | undefined
    let value: Type | undefined
    for (const entry of expr.entries) {
      key = this.#join(key, this.#check(entry.key))
      value = this.#join(value, this.#entry(entry.value, this.#check(entry.value), entry.optional))
    }
    return mapType(key ?? this.#freeVariable(), value ?? this.#freeVariable())
  }

  /**
   * Returns the type of an element of a list literal or of a value of a map literal. An optional element, such as `?x`, has the type of the
   * value in the optional.
   */
  #entry(expr: Expr, type: Type, optional: boolean): Type {
    if (!optional) return type
    const inner = unwrapOptional(type)
    if (inner === undefined && type.kind !== 'dyn') {
      this.#report(expr.offset, `expected type '${formatType(optionalType(type))}' but found '${formatType(type)}'`)
    }
    return inner ?? type
  }

  /**
   * Returns the error type for a message literal `Type{field: value}`, and always reports an error. The CEL environment of Kubernetes has
   * no message types, so every message literal is invalid. The fields are not checked, because their types are unknown.
   */
  #struct(expr: Expr & { kind: 'struct' }): Type {
    const named = this.#lookUp(expr, expr.typeName)
    if (named === undefined) return this.#undeclared(expr.offset, expr.typeName)
    this.#report(expr.offset, `'${expr.typeName}' is not a${named.kind === 'type' ? ' message' : ''} type`)
    return errorType
  }

  #comprehension(expr: Comprehension): Type {
    const range = this.#check(expr.range)
    const accumulator = this.#check(expr.initial)
    const [first, second] = this.#rangeTypes(expr, substitute(this.#mapping, range, false))
    this.#scopes.push(new Map([[expr.accumulator, accumulator]]))
    this.#scopes.push(new Map([[expr.variable, first], ...(expr.variable2 === undefined ? [] : [[expr.variable2, second] as const])]))
    this.#expect(expr.condition, this.#check(expr.condition), boolType)
    this.#expect(expr.step, this.#check(expr.step), accumulator)
    this.#scopes.pop()
    const result = this.#check(expr.result)
    this.#scopes.pop()
    return substitute(this.#mapping, result, false)
  }

  #rangeTypes(expr: Comprehension, range: Type): [Type, Type] {
    switch (range.kind) {
      case 'list':
        return expr.variable2 === undefined ? [range.parameters[0]!, dynType] : [intType, range.parameters[0]!]
      case 'map':
        return [range.parameters[0]!, range.parameters[1]!]
      case 'dyn':
      case 'error':
      case 'parameter':
        this.#assign(dynType, range)
        return [dynType, dynType]
      default:
        this.#report(
          expr.range.offset,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [errorType, errorType]
    }
  }

  #expect(expr: Expr, type: Type, expected: Type): void {
    if (!this.#assign(expected, type)) this.#report(expr.offset, `expected type '${formatType(expected)}' but found '${formatType(type)}'`)
  }

  /**
   * Joins the types of two elements of a list or map literal. If the types do not match, the result is dyn. `literalIssues` later returns
   * an issue for such a literal, unless the literal is in the argument list of `format()`.
   */
  #join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current
    return this.#assign(previous, current) ? mostGeneral(previous, current) : dynType
  }

  #assign(from: Type, to: Type): boolean {
    const mapping = assign(this.#mapping, from, to)
    if (mapping !== undefined) this.#mapping = mapping
    return mapping !== undefined
  }

  #freeVariable(): Type {
    this.#freeVariables += 1
    return parameterType(`_var${this.#freeVariables - 1}`)
  }
}
