/**
 * What a text is meant to be: a statement about the world, or a `procedure` (a skill, a tool skill), which may say what an
 * answer has to mention.
 */
export type TextKind = 'fact' | 'procedure';
