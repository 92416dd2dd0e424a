/**
 * Rejects assertions that accept more than they seem to. tap compares patterns loosely: `null` matches an absent field, and `[]` matches
 * every array, because tap ignores the items that the pattern does not have. `same` considers '1' and 1 equal, and `pass` compares nothing.
 */
import type { Rule } from 'eslint'
import type { Node } from 'estree'

/** The assertions whose second argument is a pattern. */
const patterns: ReadonlySet<string> = new Set(['match', 'notMatch', 'matchOnly', 'notMatchOnly', 'has', 'notHas', 'throws', 'rejects'])
/** The keys are assertions that compare loosely. Each value is the strict assertion that replaces its key. */
const strict: ReadonlyMap<string, string> = new Map([
  ['same', 'strictSame'],
  ['notSame', 'strictNotSame'],
])

export const assertions: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      null: 'An absent field matches null in t.{{assertion}}: compare the value alone with t.equal(value, null), or the whole with t.strictSame.',
      empty: 'Any array matches [] in t.{{assertion}}: compare the list alone with t.strictSame(list, []).',
      loose: "t.{{assertion}} takes '1' for 1 and null for undefined: use t.{{strict}}.",
      pass: 't.pass asserts nothing: assert what the test shows; for a wait, t.resolves(promise).',
    },
  },
  create(context) {
    /** Reports parts of a pattern that match too much. Functions inside a pattern are not checked. */
    function checkPattern(node: Node, assertion: string): void {
      if (node.type === 'Literal' && node.raw === 'null') context.report({ node, messageId: 'null', data: { assertion } })
      if (node.type === 'ArrayExpression' && node.elements.length === 0) context.report({ node, messageId: 'empty', data: { assertion } })
      if (node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression') return
      for (const key of context.sourceCode.visitorKeys[node.type] ?? []) {
        const children = node[key as keyof Node] as unknown as Node | null | undefined | readonly (Node | null)[]
        for (const child of [children].flat()) if (child) checkPattern(child as Node, assertion)
      }
    }
    return {
      CallExpression({ callee, arguments: [, pattern] }) {
        if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier' || callee.property.type !== 'Identifier') return
        const node = callee.property
        const assertion = node.name
        if (strict.has(assertion)) context.report({ node, messageId: 'loose', data: { assertion, strict: strict.get(assertion)! } })
        if (assertion === 'pass') context.report({ node, messageId: 'pass' })
        if (pattern !== undefined && patterns.has(assertion)) checkPattern(pattern, assertion)
      },
    }
  },
}
